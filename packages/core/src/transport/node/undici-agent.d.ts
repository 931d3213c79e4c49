/** undici ships types for the package as a whole only. */
declare module "undici/lib/dispatcher/agent.js" {
  export { Agent as default } from "undici";
}
