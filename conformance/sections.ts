/** All fixtures, grouped by the sections of the catalogue. */
import { bodies } from "./cases/a-bodies.ts";
import { framing } from "./cases/a-framing.ts";
import { argumentsAndEnds } from "./cases/b-arguments.ts";
import { endings } from "./cases/b-endings.ts";
import { identity } from "./cases/b-identity.ts";
import { names } from "./cases/b-names.ts";
import { content } from "./cases/c-content.ts";
import { reasoning } from "./cases/c-reasoning.ts";
import { errors } from "./cases/c-errors.ts";
import { blocks } from "./cases/e-blocks.ts";
import { messages } from "./cases/e-messages.ts";
import { messageEndings } from "./cases/e-endings.ts";
import { responses } from "./cases/f-responses.ts";
import { responseItems } from "./cases/f-items.ts";
import { googleGenerate } from "./cases/g-google.ts";
import { googleBodies } from "./cases/g-bodies.ts";
import { transport } from "./cases/h-transport.ts";
import { transportBodies } from "./cases/h-bodies.ts";
import { chatProof } from "./cases/p-chat.ts";
import { otherProof } from "./cases/p-others.ts";
import type { Fixture } from "./fixture.ts";

export interface Section {
  readonly letter: string;
  readonly title: string;
  readonly fixtures: readonly Fixture[];
}

export const sections: readonly Section[] = [
  { letter: "A", title: "framing and bodies", fixtures: [...framing, ...bodies] },
  {
    letter: "B",
    title: "chat tool calls",
    fixtures: [...identity, ...names, ...argumentsAndEnds, ...endings],
  },
  {
    letter: "C",
    title: "chat content and errors",
    fixtures: [...content, ...reasoning, ...errors],
  },
  {
    letter: "E",
    title: "Anthropic Messages",
    fixtures: [...messages, ...messageEndings, ...blocks],
  },
  { letter: "F", title: "OpenAI Responses", fixtures: [...responses, ...responseItems] },
  { letter: "G", title: "Google generateContent", fixtures: [...googleGenerate, ...googleBodies] },
  { letter: "P", title: "calls that run on proof", fixtures: [...chatProof, ...otherProof] },
  { letter: "H", title: "status and transport", fixtures: [...transport, ...transportBodies] },
];
