import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { startBrowser } from "../support/browser";

test("the browser of these tests runs the script of a page on this machine", async () => {
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "text/html");
    response.end("<title>before</title><script>document.title = 'a script ran'</script>");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const browser = await startBrowser();
  try {
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`); // of a TCP server that listens
    expect(await page.title()).toBe("a script ran");
  } finally {
    await browser.close();
    server.close();
  }
});
