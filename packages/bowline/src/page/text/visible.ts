/** Shows text in questions without hidden characters. */
export { escapeLines as visible } from "../../escape.ts";
