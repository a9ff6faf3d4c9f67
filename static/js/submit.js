// A form that is on its way isn't sent twice; its button shows that, and stays focusable.
const WAIT = 10_000; // ms; then the answer was a download, or the load was stopped

function release(form) {
  delete form.dataset.sent;
  for (const button of form.querySelectorAll("[aria-disabled]")) button.removeAttribute("aria-disabled");
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post" || event.defaultPrevented) return;
  if (form.dataset.sent !== undefined) return event.preventDefault();
  form.dataset.sent = "";
  event.submitter?.setAttribute("aria-disabled", "true");
  setTimeout(release, WAIT, form);
});

// The page came back from the browser's history.
addEventListener("pageshow", (event) => {
  if (event.persisted) document.querySelectorAll("form[data-sent]").forEach(release);
});
