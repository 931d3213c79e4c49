/** Text that somebody is asked about, with nothing hidden in it. */
export { escapeLines as visible } from "../../escape.ts";
