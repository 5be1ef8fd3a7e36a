import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { fetchServedConsole } from './served-console.ts'
import { createStore } from './store.ts'
import { refresh, type UpdateType } from './updates.ts'

/** Updates of this time are one refresh. */
const COLLECT_MS = 400

/** A shorter interruption is not shown: a server restarts in seconds. */
const LOST_AFTER_MS = 5000
/** The browser connects again by itself, but not after an error response. */
const OPEN_AGAIN_MS = 5000

/** An event of the stream: objects of this type are different now. */
type Update = { type: UpdateType; id: string | null }

/** Whether changes arrive. `updated`: again, from a server with another version of the console. */
export type Connection = 'connected' | 'lost' | 'updated'

export const connection = createStore<Connection>('connected')

/** What the tab with the stream tells the others. */
type Message = { update: Update } | { connection: Connection }

/** Reads again what others have changed, while the screens of an organization are open. */
export function useLiveUpdates(org: string): void {
  const queries = useQueryClient()
  useEffect(() => listen(org, refreshTogether(queries)), [org, queries])
}

/**
 * One tab holds the stream, and tells the other tabs of this browser: browsers allow six connections
 * to a server over HTTP/1.1, for all tabs together. Returns how to stop.
 */
function listen(org: string, onUpdate: (update: Update) => void): () => void {
  const stop = new AbortController()
  const channel = new BroadcastChannel(`shiplock-events-${org}`)
  const hear = (message: Message) => {
    if ('update' in message) onUpdate(message.update)
    else connection.set(message.connection)
  }
  channel.onmessage = ({ data }) => hear(data)
  const tell = (message: Message) => {
    hear(message)
    channel.postMessage(message)
  }
  navigator.locks
    .request(`shiplock-events-${org}`, { signal: stop.signal }, () => holdStream(org, tell, stop.signal))
    .catch(() => {})
  stop.signal.addEventListener('abort', () => channel.close())
  return () => stop.abort()
}

/** Keeps a stream open until it is stopped. */
function holdStream(org: string, tell: (message: Message) => void, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    let events = open()
    let isFirst = true
    let lost: ReturnType<typeof setTimeout> | undefined
    let again: ReturnType<typeof setTimeout> | undefined

    function open(): EventSource {
      const stream = new EventSource(`/app/api/orgs/${org}/events`)
      stream.onmessage = ({ data }) => tell({ update: JSON.parse(data) })
      stream.addEventListener('resync', () => tell({ update: { type: 'resync', id: null } }))
      stream.onopen = connected
      stream.onerror = interrupted
      return stream
    }

    function connected(): void {
      clearTimeout(lost)
      lost = undefined
      // A stream that ended before its first event begins anew without `resync`.
      if (isFirst) {
        isFirst = false
        return
      }
      tell({ update: { type: 'resync', id: null } })
      // The server may have been replaced meanwhile.
      void fetchServedConsole().then((served) => tell({ connection: served === 'updated' ? 'updated' : 'connected' }))
    }

    function interrupted(): void {
      isFirst = false
      lost ??= setTimeout(() => tell({ connection: 'lost' }), LOST_AFTER_MS)
      if (events.readyState !== EventSource.CLOSED) return
      again = setTimeout(() => {
        events = open()
      }, OPEN_AGAIN_MS)
    }

    stop.addEventListener('abort', () => {
      events.close()
      clearTimeout(lost)
      clearTimeout(again)
      connection.set('connected')
      resolve()
    })
  })
}

function refreshTogether(queries: QueryClient): (update: Update) => void {
  const types = new Set<UpdateType>()
  return ({ type }) => {
    if (types.size === 0)
      setTimeout(() => {
        void refresh(queries, [...types])
        types.clear()
      }, COLLECT_MS)
    types.add(type)
  }
}
