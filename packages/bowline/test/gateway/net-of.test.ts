import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { netOf } from "../../src/gateway/access/net-of.ts";

describe("netOf", () => {
  it("returns the /64 network of an IPv6 address, in any notation", () => {
    const nets = {
      "2001:db8:1:2::1": "2001:db8:1:2::/64",
      "2001:0db8:0001:0002:ffff:eeee:dddd:cccc": "2001:db8:1:2::/64",
      "2001:db8:1:2:3:4:192.0.2.1": "2001:db8:1:2::/64",
      "1:2::3:4:5:192.0.2.1": "1:2:0:3::/64",
      "2001:db8:1::7": "2001:db8:1:0::/64",
      "2001:db8::1:2:3:4:5": "2001:db8:0:1::/64",
      "1::2:3:4:5:192.0.2.1": "1:0:2:3::/64",
      "::1": "0:0:0:0::/64",
      "::": "0:0:0:0::/64",
      "1::": "1:0:0:0::/64",
      "fe80::1%eth0": "fe80:0:0:0::/64",
    };
    for (const [address, net] of Object.entries(nets)) assert.equal(netOf(address), net, address);
  });

  it("returns an IPv4 address or any other text unchanged", () => {
    for (const address of ["192.0.2.1", "", "unix", "a%b"]) assert.equal(netOf(address), address);
  });
});
