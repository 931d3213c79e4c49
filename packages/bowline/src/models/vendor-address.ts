/** Reads vendors' addresses from the environment, for all commands. */
import { BowlineError, type Vendor } from "@bowline/core";
import { isHttp } from "../is-http.ts";

export interface VendorAddress {
  /** The variable that contains the address. */
  readonly variable: string;
  readonly baseUrl: string;
}

/**
 * Returns the variable that moves a vendor to another address, such as `ANTHROPIC_BASE_URL`.
 * Returns undefined for vendors without a key.
 */
export function baseUrlVariable({ keyVariable }: Pick<Vendor, "keyVariable">): string | undefined {
  return keyVariable?.replace(/_(?:API_)?(?:KEY|TOKEN)$/, "_BASE_URL");
}

/**
 * Returns undefined if the variable is not set; the vendor's own address applies then. Throws
 * `invalid_argument` for an invalid address; the message names the variable, not its value.
 */
export function vendorAddress(
  vendor: Vendor,
  env: Readonly<Record<string, string | undefined>>,
): VendorAddress | undefined {
  const variable = baseUrlVariable(vendor);
  const baseUrl = (variable === undefined ? undefined : env[variable])?.trim() ?? "";
  if (variable === undefined || baseUrl === "") return undefined;
  if (!isHttp(baseUrl))
    throw new BowlineError(
      "invalid_argument",
      `${variable} is not an http or https address, such as ${vendor.baseUrl}.`,
    );
  // Anthropic's own tools share this variable and expect it without the version.
  const isShort = vendor.api === "anthropic-messages" && !/\/v\d+\/*(?=\?|$)/.test(baseUrl);
  return { variable, baseUrl: isShort ? baseUrl.replace(/\/*(?=\?|$)/, "/v1") : baseUrl };
}
