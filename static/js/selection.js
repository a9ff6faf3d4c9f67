// <form data-selection>: a checkbox that selects all rows, and the number of selected rows.
for (const form of document.querySelectorAll("form[data-selection]")) {
  const all = form.querySelector("[data-all]");
  const rows = [...form.querySelectorAll("tbody input[type=checkbox]")];
  const label = form.querySelector("[data-selected-count]");

  const show = () => {
    const count = rows.filter((row) => row.checked).length;
    label.textContent = count ? `${count} selected` : "";
    all.checked = count === rows.length;
    all.indeterminate = count > 0 && count < rows.length;
  };

  all.hidden = false;
  all.addEventListener("change", () => {
    for (const row of rows) row.checked = all.checked;
    show();
  });
  form.addEventListener("change", show);
  show();
}
