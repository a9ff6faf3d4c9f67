// The summary of what is wrong takes the focus, also where the address has a fragment and `autofocus` yields.
document.querySelector(".error-summary[autofocus]")?.focus();
