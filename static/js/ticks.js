// <form data-ticks>: a box that ticks all rows, and how many are ticked.
for (const form of document.querySelectorAll("form[data-ticks]")) {
  const all = form.querySelector("[data-all]");
  const rows = [...form.querySelectorAll("tbody input[type=checkbox]")];
  const words = form.querySelector("[data-ticked]");

  const show = () => {
    const count = rows.filter((row) => row.checked).length;
    words.textContent = count ? `${count} ticked` : "";
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
