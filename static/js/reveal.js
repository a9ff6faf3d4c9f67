// <button data-reveal="ID" hidden>: shows and hides the password in the field with that ID.
for (const button of document.querySelectorAll("[data-reveal]")) {
  const field = document.getElementById(button.dataset.reveal);
  if (!field) continue;
  button.hidden = false;
  button.setAttribute("aria-pressed", "false");
  button.addEventListener("click", () => {
    const shown = field.type === "password";
    field.type = shown ? "text" : "password";
    button.setAttribute("aria-pressed", String(shown));
    button.firstChild.textContent = shown ? "Hide" : "Show";
  });
  field.form?.addEventListener("submit", () => (field.type = "password")); // so that browsers don't store it as text
}
