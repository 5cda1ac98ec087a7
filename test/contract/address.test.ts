import { isSameService, normalAddress, serviceOf } from "../../src/contract/address";

test.each([
  ["HTTPS://API.Example.com:443/api/v2/", "https://api.example.com/api/v2"],
  ["http://api.example.com:80/v2//", "http://api.example.com/v2"],
  ["http://127.0.0.1:8787/api/../v2", "http://127.0.0.1:8787/v2"],
  ["http://[0:0:0:0:0:0:0:1]:8787/v2", "http://[::1]:8787/v2"],
  ["http://127.1:8787/v2", "http://127.0.0.1:8787/v2"],
])("%s is spelled %s", (address, spelled) => {
  expect(normalAddress(address)).toBe(spelled);
  expect(normalAddress(spelled)).toBe(spelled);
});

test.each([
  ["https://api.example.com/v2", "HTTPS://API.EXAMPLE.COM:443/v2/", "yes"],
  ["https://api.example.com/v2", "https://api.example.com./v2", "yes"],
  ["https://api.example.com/v2", "http://api.example.com/v2", "yes"],
  ["http://localhost:8787/v2", "http://127.0.0.1:8787/v2", "yes"],
  ["http://LOCALHOST.:8787/v2", "http://[::1]:8787/v2", "yes"],
  ["http://127.0.0.2:8787/v2", "https://localhost:8787/v2", "yes"],
  ["http://localhost:8787/v2", "http://127.0.0.1:8788/v2", "no"],
  ["http://emulators:8787/v2", "http://emulators:8788/v2", "no"],
  ["https://api.example.com/v2", "https://api.example.com:8443/v2", "no"],
  ["https://api.example.com/v2", "https://eu.example.com/v2", "not known"],
  ["https://api.example.com/a/v2", "https://api.example.com/b/v2", "not known"],
  ["http://localhost:8787/v2", "http://my-machine:8787/v2", "not known"],
] as const)("whether %s and %s are one service: %s", (one, other, answer) => {
  expect([isSameService(one, other), isSameService(other, one)]).toEqual([answer, answer]);
  expect(serviceOf(one) === serviceOf(other)).toBe(answer === "yes");
});
