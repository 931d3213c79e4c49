/** undici has types for its whole alone. */
declare module "undici/lib/dispatcher/agent.js" {
  export { Agent as default } from "undici";
}
