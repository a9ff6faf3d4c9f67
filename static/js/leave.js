// <form data-confirm-leave>: asks before leaving a page that can't be shown again, unless the form is submitted.
for (const form of document.querySelectorAll("form[data-confirm-leave]")) {
  const ask = (event) => event.preventDefault();
  addEventListener("beforeunload", ask);
  form.addEventListener("submit", () => removeEventListener("beforeunload", ask));
}
