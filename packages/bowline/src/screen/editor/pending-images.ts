/** The images that are being read for a draft. */
import type { DraftImage } from "./draft.ts";
import type { ImagePort } from "./image-port.ts";

export interface PendingImagesOptions {
  readonly port: ImagePort | undefined;
  readonly onNotice: (notice: string) => void;
  /** Called after an image was put into the draft. */
  readonly onChange: () => void;
}

export class PendingImages {
  readonly #options: PendingImagesOptions;
  #abort = new AbortController();

  constructor(options: PendingImagesOptions) {
    this.#options = options;
  }

  get canRead(): boolean {
    return this.#options.port !== undefined;
  }

  readFile(path: string, put: (image: DraftImage) => void): void {
    this.#read((port, signal) => port.file(path, signal), put);
  }

  readClipboard(put: (image: DraftImage) => void): void {
    this.#read((port, signal) => port.clipboard(signal), put);
  }

  /** Forgets the images that are not read yet: their draft is gone. */
  forget(): void {
    this.#abort.abort();
    this.#abort = new AbortController();
  }

  #read(
    read: (port: ImagePort, signal: AbortSignal) => Promise<DraftImage | undefined>,
    put: (image: DraftImage) => void,
  ): void {
    const { port, onNotice, onChange } = this.#options;
    const { signal } = this.#abort;
    if (port === undefined) return onNotice("Images cannot be attached here.");
    void read(port, signal).then(
      (image) => {
        if (image === undefined || signal.aborted) return;
        put(image);
        onChange();
      },
      (error: unknown) => {
        if (!signal.aborted) onNotice((error as Error).message);
      },
    );
  }
}
