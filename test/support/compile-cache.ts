import { join } from "node:path";

/** Environment for processes that tests start. The compile cache halves their start time. */
export const compileCache = {
  NODE_COMPILE_CACHE: join(import.meta.dirname, "../../node_modules/.cache/tests"),
};
