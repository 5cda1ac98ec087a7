const { sep } = require("node:path");

/** Takes out all that is loaded but what stands in node_modules, where ours is a link. Returns it. */
exports.forget = () => {
  const ours = Object.entries(require.cache).filter(([file]) => !file.includes(`${sep}node_modules${sep}`));
  for (const [file] of ours) delete require.cache[file];
  return Object.fromEntries(ours);
};
