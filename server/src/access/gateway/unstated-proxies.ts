import type { FastifyInstance } from 'fastify'
import { DAY_MS } from '../../platform/clock.ts'
import type { Services } from '../../services.ts'
import { upsertUnstatedProxy } from '../rate-limit.store.ts'

/**
 * Notes from where requests with `X-Forwarded-For` come, while no setting says whether that is a
 * proxy: once a day in the log, and in the database for `doctor`. Behind a proxy, limits by network
 * would otherwise take all people for one.
 */
export function registerUnstatedProxies(app: FastifyInstance, services: Services): void {
  const { sql, clock, log } = services
  let noted = Number.NEGATIVE_INFINITY
  app.addHook('onRequest', (request, _reply, done) => {
    done()
    const now = clock.now()
    if (request.headers['x-forwarded-for'] === undefined || now.getTime() - noted < DAY_MS) return
    noted = now.getTime()
    log.warn(
      'Requests arrive with X-Forwarded-For: set SHIPLOCK_TRUSTED_PROXIES to the addresses of your reverse proxies, or to none',
    )
    const address = request.socket.remoteAddress ?? 'unknown'
    upsertUnstatedProxy(sql, address, now).catch((err) => log.warn({ err }, 'Could not store the address of a proxy'))
  })
}
