// Focuses the error summary, also if the URL has a fragment, which makes browsers ignore `autofocus`.
document.querySelector(".error-summary[autofocus]")?.focus();
