import js from "@eslint/js";
import globals from "globals";

export default [
  js.configs.recommended,
  { rules: { eqeqeq: "error", "no-var": "error", "prefer-const": "error" } },
  { files: ["queries/**", "pipeline/**"], languageOptions: { globals: globals.browser } },
  { files: ["examples/**", "tests/**"], languageOptions: { globals: globals.node } },
];
