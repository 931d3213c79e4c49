/**
 * The files of the page, by address. Nothing else is served: an address is looked up here and never
 * becomes a path.
 */

/** True when running from TypeScript source. The page's types are then stripped before serving. */
export const isFromSource: boolean = import.meta.url.endsWith(".ts");

export interface PageFile {
  readonly url: URL;
  readonly type: "text/javascript" | "text/css" | "image/svg+xml";
}

const ending = isFromSource ? "ts" : "js";

/** All modules reachable from `page/main`; a test checks the list. */
const modules = [
  "page/main",
  "page/token",
  "page/whole-messages",
  "page/address",
  "page/choose-images",
  "page/controller",
  "page/follow-address",
  "page/show-app",
  "page/store",
  "page/storage",
  "page/state/allot",
  "page/state/approvals",
  "page/state/conversation",
  "page/state/history-runs",
  "page/state/outgoing",
  "page/state/reduce",
  "page/state/run-view",
  "page/state/sent-image",
  "page/state/shown-session",
  "page/state/who-answers",
  "page/text/clipboard",
  "page/text/image-type",
  "page/text/link",
  "page/text/markdown",
  "page/text/pieces",
  "page/text/sanitize",
  "page/text/visible",
  "page/text/wording",
  "page/view/added",
  "page/view/announcer",
  "page/view/app",
  "page/view/approval",
  "page/view/asked-call",
  "page/view/banner",
  "page/view/choose-dialog",
  "page/view/chosen-images",
  "page/view/code-block",
  "page/view/composer",
  "page/view/confirm",
  "page/view/context",
  "page/view/conversation",
  "page/view/given",
  "page/view/icon",
  "page/view/markdown",
  "page/view/memo",
  "page/view/message-field",
  "page/view/run",
  "page/view/run-footer",
  "page/view/send-modes",
  "page/view/sent-images",
  "page/view/session-item",
  "page/view/sidebar",
  "page/view/sign-in",
  "page/view/stick-to-bottom",
  "page/view/theme",
  "page/view/thinking",
  "page/view/tool-card",
  "page/view/use-choice",
  "page/view/use-draft",
  "page/view/use-file-drop",
  "page/view/use-focus-back",
  "page/view/use-images",
  "page/view/use-keys",
  "page/view/use-message",
  "page/view/use-session-mode",
  "page/view/waiting",
  "page/view/welcome",
  "page/view/who-answers",
  "gateway/client/client",
  "gateway/client/create-key",
  "gateway/client/followed-run",
  "gateway/protocol/added-text",
  "gateway/protocol/frame",
  "gateway/client/link",
  "gateway/client/request-error",
  "gateway/client/seen-runs",
  "gateway/client/socket-class",
  "gateway/protocol/shown-message",
  "escape",
] as const;

/** Packages that the page imports, for the import map. */
const libraries = ["preact", "preact/hooks", "htm", "htm/preact", "marked", "dompurify"] as const;

const styles = [
  "base",
  "layout",
  "sidebar",
  "conversation",
  "markdown",
  "cards",
  "composer",
] as const;

const moduleAddress = (name: string): string => `/assets/${name}.${ending}`;
const libraryAddress = (name: string): string => `/assets/library/${name.replace("/", "-")}.js`;
const styleAddress = (name: string): string => `/assets/style/${name}.css`;

/** The folders of compiled modules, and of files served as written. */
const compiled = new URL("../../", import.meta.url);
const written = new URL("../../../src/page/", import.meta.url);

export const mainAddress: string = moduleAddress("page/main");
export const moduleAddresses: readonly string[] = modules.map(moduleAddress);
export const styleAddresses: readonly string[] = styles.map(styleAddress);
export const iconAddress = "/assets/icon.svg";

export const importMap: Readonly<Record<string, string>> = Object.fromEntries(
  libraries.map((name) => [name, libraryAddress(name)]),
);

export function pageFiles(): ReadonlyMap<string, PageFile> {
  const script = (url: URL): PageFile => ({ url, type: "text/javascript" });
  return new Map<string, PageFile>([
    ...modules.map(
      (name) => [moduleAddress(name), script(new URL(`${name}.${ending}`, compiled))] as const,
    ),
    ...libraries.map(
      (name) => [libraryAddress(name), script(new URL(import.meta.resolve(name)))] as const,
    ),
    ...styles.map(
      (name) =>
        [
          styleAddress(name),
          { url: new URL(`style/${name}.css`, written), type: "text/css" },
        ] as const,
    ),
    [iconAddress, { url: new URL("icon.svg", written), type: "image/svg+xml" }],
  ]);
}
