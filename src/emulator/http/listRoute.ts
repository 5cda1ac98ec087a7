import type { Context } from "hono";
import { z } from "zod";
import { jsonResponse, route } from "./bodies";
import type { ApiRoute, Env } from "./route";
import type { PagedList } from "../model/pages";
import type { Service } from "../model/service";

const pageQuery = z.object({
  limit: z.coerce.number().int().min(1).max(1000).optional(),
  cursor: z.string().min(1).optional(),
});

/** A route that answers with a list, in pages. */
export function listRoute<T extends object>({
  service,
  records,
  newestFirst = false,
  wholeSize = 0,
  body,
  ...rest
}: Pick<ApiRoute, "name" | "summary" | "template" | "completes"> &
  Pick<PagedList<T>, "newestFirst"> & {
    service: Service;
    /** Records in a page where neither the options nor the request ask for pages. @default 0, which is all */
    wholeSize?: number;
    /** Oldest first. */
    records: (context: Context<Env>) => readonly T[];
    /** `pagination`: to be added to the body; empty for the last page. */
    body: (page: T[], pagination: { pagination?: { cursor: string } }, context: Context<Env>) => object;
  }): ApiRoute {
  return route({
    ...rest,
    method: "GET",
    query: pageQuery,
    success: [200],
    handler: (context, _sent, { limit, cursor }) => {
      const { pageSize } = service.options;
      const page = service.pages.page({
        ...{ list: context.req.path, records: records(context), newestFirst, cursor },
        size: limit ?? (pageSize === 0 ? wholeSize : pageSize),
        fault: context.get("pagingFault"),
      });
      const pagination = page.next === undefined ? {} : { pagination: { cursor: page.next } };
      return jsonResponse(service.options, body(page.records, pagination, context));
    },
  });
}
