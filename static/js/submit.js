// Prevents submitting a form twice. Its button looks disabled but stays focusable.
const WAIT = 10_000; // ms; by then, the response was a download, or loading was cancelled

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

// The browser restored the page from its history.
addEventListener("pageshow", (event) => {
  if (event.persisted) document.querySelectorAll("form[data-sent]").forEach(release);
});
