// <form data-row-form>: the form of a table's row, whose fields are saved as soon as one is left. An error is shown at its field, which keeps
// the typed text. Any answer that isn't for scripts, such as a page to sign in, comes by sending the form as a browser without script does.
for (const form of document.querySelectorAll("form[data-row-form]")) {
  const row = form.closest("tr");
  const fields = [...form.elements].filter((each) => each.name && each.type !== "hidden");
  let isSaving = false;
  let isChanged = false;
  let left; // the timer of "Saved"

  function say(words) {
    form.querySelector(".said").textContent = words;
    clearTimeout(left);
    if (words === "Saved") left = setTimeout(say, 4000, "");
  }

  function mark(field, words) {
    const id = `${form.id}-${field.name}-error`;
    field.parentElement.querySelectorAll(".error").forEach((each) => each.remove());
    field.toggleAttribute("aria-invalid", false);
    field.removeAttribute("aria-describedby");
    if (!words) return;
    const error = document.createElement("span");
    error.className = "error";
    error.id = id;
    error.role = "alert";
    error.textContent = words;
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-describedby", id);
    field.after(error);
  }

  function show(found) {
    form.elements.shown.value = found.shown;
    for (const field of fields) {
      mark(field, found.errors?.[field.name]);
      if (found.values?.[field.name] !== undefined && field !== document.activeElement)
        field.value = found.values[field.name];
    }
    if (found.status) row.querySelector("[data-status]").innerHTML = found.status;
    say(found.errors ? "" : "Saved");
  }

  async function save() {
    isChanged = true;
    if (isSaving) return;
    isSaving = true;
    while (isChanged) {
      isChanged = false;
      try {
        const body = new URLSearchParams(new FormData(form));
        const answer = await fetch(form.action, {
          method: "POST",
          body,
          headers: { Accept: "application/json" },
          keepalive: true,
        });
        const type = answer.headers.get("Content-Type") ?? "";
        const found = type.startsWith("application/json") && !answer.redirected ? await answer.json() : {};
        if (!found.shown) return form.submit();
        show(found);
      } catch {
        say("Not saved. Check your connection.");
      }
    }
    isSaving = false;
  }

  for (const field of fields) field.addEventListener("change", save);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    save();
  });
}
