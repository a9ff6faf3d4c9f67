// What every page may use. Each part finds its elements by a data attribute and adds to a page that
// works without it.
import "./copy.js";
import "./counter.js";
import "./errors.js";
import "./leave.js";
import "./reveal.js";
import "./slug.js";
import "./submit.js";

document.documentElement.dataset.scripted = "";
