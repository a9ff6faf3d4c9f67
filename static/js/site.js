// Behaviour for every page. Each part finds its elements by a data attribute, and pages work without it.
import "./copy.js";
import "./counter.js";
import "./errors.js";
import "./leave.js";
import "./reveal.js";
import "./slug.js";
import "./submit.js";

document.documentElement.dataset.scripted = "";
