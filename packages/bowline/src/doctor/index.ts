/**
 * Examines an OpenAI-compatible server: what it accepts, how it answers, and which settings Bowline
 * needs for it.
 */
import { probeAnswer } from "./answer.ts";
import { probeConnection } from "./connection.ts";
import { probeErrors } from "./errors.ts";
import { Examination, type ExaminationOptions } from "./examination.ts";
import type { DoctorResult, Verdict } from "./finding.ts";
import { probeOptions } from "./request-options.ts";
import { probeTools } from "./tools.ts";
import { judge, toProfile } from "./verdict.ts";

export type { DoctorResult, Profile } from "./finding.ts";
export { firstToAsk, listedModels, modelsUrl } from "./model-list.ts";
export { parseProfile } from "./profile.ts";
export { reportText } from "./report.ts";
export { isUsable } from "./verdict.ts";

/**
 * Examines a server. Never throws for a server's behaviour. An aborted examination returns the
 * findings so far.
 */
export async function examine(options: ExaminationOptions): Promise<DoctorResult> {
  const started = Date.now();
  const server = new Examination(options);
  for (const probe of [probeConnection, probeAnswer, probeTools, probeOptions, probeErrors]) {
    if (!server.isOver) await probe(server);
  }
  const { findings, compat, model, requests } = server;
  const stopped: Verdict = { kind: "stopped", text: "stopped before the end" };
  const verdict = options.signal.aborted ? stopped : judge(findings, compat);
  const hasProfile = verdict.kind !== "unusable" && verdict.kind !== "stopped";
  return {
    version: 1,
    baseUrl: options.baseUrl,
    ...(model !== "" && { model }),
    verdict,
    findings,
    ...(hasProfile && { profile: toProfile(options.baseUrl, model, compat, findings) }),
    requests,
    ms: Date.now() - started,
  };
}
