// Fields that are typed into. A text with a problem changes nothing; the problem is shown below until another state is.
import { html } from "#page/html.js";
import { refresh } from "#page/text.js";

let wrong = { id: "", text: "" };

export function clearProblem() {
  wrong = { id: "", text: "" };
}

/** Say what is wrong with a field, or with an act in its view. */
export function showFieldError(id, text) {
  wrong = { id, text };
  refresh();
}

/**
 * Show a field: `set(text)` takes what is typed, as `read` returns it, unless `check(text)` returns its problem. While the
 * user types, a text of less than `length` letters is neither. It is entered on leaving the field, or on Enter.
 */
export function showField(
  view,
  { part, label, value, classes = "", length = Infinity, read, check, set },
) {
  const id = `${view}-${part}`;
  function handle({ target }, isEntered) {
    const text = read ? read(target.value) : target.value.trim().toLowerCase();
    const isEarly = !isEntered && text.length < length;
    const problem = isEarly ? "" : check(text);
    if (problem || wrong.id === id) showFieldError(problem ? id : "", problem);
    if (!problem && !isEarly) set(text);
  }
  return html`<label for="${id}">${label}</label>
    <input
      id="${id}"
      class="${classes}"
      autocomplete="off"
      autocapitalize="none"
      spellcheck="false"
      value="${value}"
      aria-describedby="${view}-problem"
      aria-invalid=${wrong.id === id ? "true" : null}
      oninput=${(event) => handle(event, false)}
      onchange=${(event) => handle(event, true)}
      onkeydown=${(event) => {
        if (event.key === "Enter") handle(event, true);
      }}
    />`;
}

/** Show the problem of a view's fields. */
export function showProblem(view) {
  return html`<p id="${view}-problem" class="problem" role="alert" hidden=${!wrong.text}>
    ${wrong.text}
  </p>`;
}
