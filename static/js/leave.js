// <form data-confirm-leave>: asks once before leaving a page that can't be shown again, until the form is sent.
for (const form of document.querySelectorAll("form[data-confirm-leave]")) {
  const ask = (event) => event.preventDefault();
  addEventListener("beforeunload", ask);
  form.addEventListener("submit", () => removeEventListener("beforeunload", ask));
}
