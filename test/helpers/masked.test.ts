import { readable } from "../../src/helpers/masked";

test.each([undefined, "", "****", "••••", "ab****yz", "sec•••"])("%p shows nothing", (value) => {
  expect(readable(value)).toBeUndefined();
});

test.each(["p4ss", "a*b", "**bold"])("%p is what it is", (value) => {
  expect(readable(value)).toBe(value);
});
