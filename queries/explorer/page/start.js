// The page's first script: it loads the others, by their names in the page's import map.
import("#page/app.js").catch(() => {
  const trouble = document.getElementById("trouble");
  trouble.textContent = "This page cannot start: it is damaged.";
  trouble.hidden = false;
});
