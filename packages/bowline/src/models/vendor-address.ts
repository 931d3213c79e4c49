/** Where the environment says that a vendor's models are: one rule for every command. */
import { BowlineError, type Vendor } from "@bowline/core";
import { isHttp } from "../is-http.ts";

export interface VendorAddress {
  /** What says so. */
  readonly variable: string;
  readonly baseUrl: string;
}

/**
 * The variable that moves a vendor to another address, such as `ANTHROPIC_BASE_URL`; undefined for
 * vendors without a key.
 */
export function baseUrlVariable({ keyVariable }: Pick<Vendor, "keyVariable">): string | undefined {
  return keyVariable?.replace(/_(?:API_)?(?:KEY|TOKEN)$/, "_BASE_URL");
}

/**
 * Undefined where the environment says nothing: then the vendor is at its own address. Throws
 * `invalid_argument` that names the variable, not its value, for what is no address.
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
      `${variable} is no http or https address, such as ${vendor.baseUrl}.`,
    );
  // Anthropic's own tools name the address without the version; its value is shared with them.
  const isShort = vendor.api === "anthropic-messages" && !/\/v\d+\/*(?=\?|$)/.test(baseUrl);
  return { variable, baseUrl: isShort ? baseUrl.replace(/\/*(?=\?|$)/, "/v1") : baseUrl };
}
