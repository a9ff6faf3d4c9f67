// <form data-selection>: a checkbox that selects all rows, and the number of selected rows.
for (const form of document.querySelectorAll("form[data-selection]")) {
  const all = form.querySelector("[data-all]");
  const found = () => [...form.querySelectorAll("tbody input[type=checkbox]")]; // rows may have been replaced
  const label = form.querySelector("[data-selected-count]");

  const show = () => {
    const rows = found();
    const count = rows.filter((row) => row.checked).length;
    label.textContent = count ? `${count} selected` : "";
    all.checked = count === rows.length;
    all.indeterminate = count > 0 && count < rows.length;
  };

  all.hidden = false;
  all.addEventListener("change", () => {
    for (const row of found()) row.checked = all.checked;
    show();
  });
  form.addEventListener("change", show);
  show();
}
