import { MINUTE_MS } from '../../platform/clock.ts'
import { openToken, sealToken } from '../../platform/crypto/token.ts'
import { invalidCursor } from '../../platform/http/errors.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { Envelope } from '../../platform/http/schemas.ts'
import type { Services } from '../../services.ts'
import { answerExposure, ENTRIES_MAX, selectExposurePage } from './answer-exposure.ts'
import { Exposure, ExposurePath, ExposureQuery } from './exposure.schema.ts'

/** What a page of a long answer is bound to. `t` is the state of the answer, `x` when it ends. */
type ExposureCursor = { v: string; o: string; s: string; t: string; n: number; x: number }

export async function registerExposureRoutes(app: HttpServer, services: Services): Promise<void> {
  app.get(
    '/v1/exposure/:vulnerability',
    {
      config: { scope: 'read:security', permission: 'view', feature: 'security_uploads' },
      schema: {
        operationId: 'getExposure',
        summary: 'Find where a vulnerability runs',
        description:
          'Returns every deployment that runs and is affected, those about which it is not known and why, and how many are ' +
          'not affected. It is computed from the bills of materials and advisories that are stored now. A deployment whose ' +
          'contents are not known is never counted as not affected.\n\nErrors: 404 `unknown_vulnerability` if nothing that ' +
          'is stored names it. 400 `invalid_cursor` if the answer has changed since the previous page.',
        tags: ['Inventory'],
        params: ExposurePath,
        querystring: ExposureQuery,
        response: { 200: Envelope(Exposure, 'The answer.') },
      },
    },
    async ({ actor, params, query }) => {
      const { vulnerability } = params
      const { credential } = actor
      const { scope = 'runtime', cursor } = query
      const now = services.clock.now().getTime()
      const bound = { v: vulnerability.toUpperCase(), o: actor.org_id, s: scope }
      const from = cursor === undefined ? null : openToken<ExposureCursor>(services.cursorKey, cursor)
      if (
        cursor !== undefined &&
        (from === null || from.v !== bound.v || from.o !== bound.o || from.s !== scope || from.x <= now)
      )
        throw invalidCursor()
      const answer = await answerExposure(services, actor.org_id, {
        vulnerability,
        countsExcluded: scope === 'all',
        // People who may view see both.
        showsApprovals: credential.type === 'user' || credential.scopes.includes('read:deployments'),
      })
      const start = from?.n ?? 0
      const { page, next, state } = selectExposurePage(answer, start)
      if (from !== null && from.t !== state) throw invalidCursor()
      const following = { ...bound, t: state, n: start + ENTRIES_MAX, x: from?.x ?? now + 5 * MINUTE_MS }
      const next_cursor = next === null ? null : sealToken(services.cursorKey, following)
      return { data: { ...page, next_cursor, complete: start === 0 && next === null } }
    },
  )
}
