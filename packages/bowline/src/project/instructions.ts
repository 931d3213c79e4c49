/**
 * Reads AGENTS.md and CLAUDE.md. They are text for the model and never an authority: nothing in
 * them can allow a call.
 */
import { dirname, isAbsolute, join } from "node:path";
import { isInFolder, readBounded, sizeText } from "../settings/bounded-file.ts";
import { showPath } from "../escape.ts";
import { mentionsIn } from "./mentions.ts";
import { namesBetween, shownFrom, type Place } from "./place.ts";
import { isPrivateFile } from "./private-files.ts";

export interface Instruction {
  /** For the user's own file absolute, else relative to the project's root. */
  readonly path: string;
  /** The size of the text as it is sent. */
  readonly bytes: number;
  readonly text: string;
}

/** The instructions of one project. Remembers which files were taken. */
export interface Instructions {
  /** Reads the user's file, then those from the root down to the working directory. */
  load(): Promise<readonly Instruction[]>;
  /**
   * Returns the instructions of the folders below the working directory down to a file's folder.
   * Each is returned once.
   */
  below(path: string): Promise<readonly Instruction[]>;
}

export interface InstructionsOptions {
  readonly place: Place;
  /** The folder of the user's own AGENTS.md. */
  readonly configFolder: string;
  readonly notice: (text: string) => void;
}

const MAX_BYTES = 32 * 1024;
const MAX_TOTAL = 100 * 1024;
const MAX_HOPS = 5;
/** Imports that are looked for, whether the files exist or not. */
const MAX_IMPORTS = 200;
/** Nested folders that are looked at for one path. */
const MAX_DEPTH = 32;

interface Source {
  readonly path: string;
  readonly shown: string;
  /** The real path that the file must be in; undefined for the user's own. */
  readonly within: string | undefined;
}

export function createInstructions(options: InstructionsOptions): Instructions {
  const { place, configFolder } = options;
  const taken = new Taken(options);
  return {
    async load() {
      const found = await taken.file({
        path: join(configFolder, "AGENTS.md"),
        shown: join(configFolder, "AGENTS.md"),
        within: undefined,
      });
      for (const folder of place.folders) found.push(...(await taken.folder(folder)));
      return found;
    },
    async below(path) {
      const full = isAbsolute(path) ? path : join(place.directory, path);
      if (!isInFolder(place.directory, full)) return [];
      const found: Instruction[] = [];
      let folder = place.directory;
      for (const name of namesBetween(place.directory, dirname(full)).slice(0, MAX_DEPTH)) {
        folder = join(folder, name);
        found.push(...(await taken.folder(folder)));
      }
      return found;
    },
  };
}

class Taken {
  readonly #options: InstructionsOptions;
  readonly #folders = new Set<string>();
  readonly #files = new Set<string>();
  #left = MAX_TOTAL;
  #imports = 0;

  constructor(options: InstructionsOptions) {
    this.#options = options;
  }

  /** Reads AGENTS.md of a folder, else CLAUDE.md, with the files that it imports. */
  async folder(folder: string): Promise<Instruction[]> {
    if (this.#folders.has(folder)) return [];
    this.#folders.add(folder);
    const { root } = this.#options.place;
    const [agents, claude] = ["AGENTS.md", "CLAUDE.md"].map((name) => ({
      path: join(folder, name),
      shown: shownFrom(root, join(folder, name)),
      within: root,
    })) as [Source, Source];
    const own = await readBounded(agents.path, root);
    const found = await this.file(agents);
    // Already taken, as an import of another file.
    if (found.length === 0 && own.kind === "text" && this.#files.has(own.realPath)) return [];
    const other = await readBounded(claude.path, root, MAX_TOTAL * 10);
    if (found.length === 0) return other.kind === "missing" ? [] : this.file(claude);
    if (other.kind === "text" && !this.#files.has(other.realPath) && !isPointer(other.text))
      this.#options.notice(
        `${agents.shown} and ${claude.shown} both exist; ${agents.shown} was taken.`,
      );
    return found;
  }

  async file(source: Source, hops = 0): Promise<Instruction[]> {
    const file = await readBounded(source.path, source.within);
    if (file.kind === "missing") return [];
    const { notice, place } = this.#options;
    if (file.kind === "refused") {
      notice(`${showPath(source.shown)} ${file.why}.`);
      return [];
    }
    if (source.within !== undefined && isPrivateFile(shownFrom(place.root, file.realPath))) {
      notice(`${showPath(source.shown)} may hold secrets and was not read.`);
      return [];
    }
    if (file.text.trim() === "" || this.#files.has(file.realPath)) return [];
    this.#files.add(file.realPath);
    const text = this.#cut(source.shown, file.text.trim());
    // The end of a long file has no effect.
    const imported = await this.#importsIn(file.text.slice(0, MAX_TOTAL), source, hops);
    if (text === "") return imported; // the limits are used up
    return [{ path: source.shown, bytes: Buffer.byteLength(text), text }, ...imported];
  }

  async #importsIn(text: string, { path, within }: Source, hops: number): Promise<Instruction[]> {
    const found: Instruction[] = [];
    for (const mention of mentionsIn(text)) {
      if (this.#imports++ >= MAX_IMPORTS || this.#left === 0) {
        if (this.#imports === MAX_IMPORTS + 1)
          this.#options.notice(
            `@${showPath(mention)} and the imports after it were not read: there are too many.`,
          );
        break;
      }
      const isHome = mention.startsWith("~/");
      const target = isAbsolute(mention) ? mention : join(dirname(path), mention);
      const { root } = this.#options.place;
      const folder = within === undefined ? dirname(path) : root;
      if (isHome || !isInFolder(folder, target)) {
        if (isHome || isAbsolute(mention) || mention.startsWith("../"))
          this.#options.notice(`@${showPath(mention)} is outside of the project and was not read.`);
        continue;
      }
      if (hops >= MAX_HOPS) {
        this.#options.notice(
          `@${showPath(mention)} was not read: imports are followed ${MAX_HOPS} times.`,
        );
        continue;
      }
      const shown = within === undefined ? target : shownFrom(root, target);
      found.push(...(await this.file({ path: target, shown, within }, hops + 1)));
    }
    return found;
  }

  /** Cuts a text to what is left of the limits, and says so. */
  #cut(shown: string, text: string): string {
    const bytes = Buffer.from(text);
    const limit = Math.min(MAX_BYTES, this.#left);
    if (bytes.length <= limit) {
      this.#left -= bytes.length;
      return text;
    }
    const which = limit === MAX_BYTES ? "for one file" : "left for all files";
    this.#options.notice(
      `${showPath(shown)} has ${sizeText(bytes.length)}; it was cut to the ${sizeText(limit)} ${which}.`,
    );
    if (limit === 0) return "";
    this.#left -= limit;
    // A character that the cut splits is left out.
    const kept = new TextDecoder().decode(bytes.subarray(0, limit), { stream: true });
    return `${kept}\n[cut here: the file has ${bytes.length} bytes]`;
  }
}

/** Returns true for a CLAUDE.md that only imports AGENTS.md. */
function isPointer(text: string): boolean {
  return /^@(?:\.\/)?AGENTS\.md$/.test(text.trim());
}
