/** The last of the ways to go on where something stands that the program declares. */
export const OR_ALIAS = "; or, if it is this program's own under another name, give it an alias (the option aliases)";

/** Of an update whose object a good answer lacks. */
export const gone = (): Error =>
  new Error("it is not there any more. Run pulumi up --refresh, which plans to create it again");

/** What to do about a conflict with something that no list shows. */
export const unseen = (thing: string): string =>
  `Yet no list shows ${thing}. Lists can lag behind: run pulumi up again in a while, or delete it first`;
