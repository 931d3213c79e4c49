import { defineConfig } from "vitepress";
import { sidebar } from "../nav.mjs";

/** Creates anchors in the same way as the repository's pages, so that links work in both places. */
function slugify(heading) {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}

export default defineConfig({
  title: "Bowline",
  description: "An agent runtime for TypeScript",
  lang: "en",
  srcDir: ".pages",
  outDir: "dist",
  cacheDir: ".cache",
  cleanUrls: false,
  metaChunk: true,
  markdown: {
    anchor: { slugify },
    toc: { slugify },
    config(md) {
      // Two braces are the theme's own language, and nothing in these pages is written in it.
      const { text } = md.renderer.rules;
      md.renderer.rules.text = (...args) => text(...args).replaceAll("{{", "&#123;&#123;");
    },
  },
  themeConfig: {
    sidebar,
    outline: [2, 3],
    search: {
      provider: "local",
      options: {
        detailedView: true,
        miniSearch: {
          searchOptions: {
            // The guide first, then the reference, then what only this project's people need.
            boostDocument: (id) => {
              if (id.startsWith("/project") || id.startsWith("/changelog")) return 0.05;
              return id.startsWith("/reference") ? 1 : 3;
            },
          },
        },
      },
    },
    nav: [
      { text: "Start", link: "/start" },
      { text: "Guide", link: "/agent" },
      { text: "Reference", link: "/reference/" },
      { text: "Changelog", link: "/changelog" },
    ],
  },
});
