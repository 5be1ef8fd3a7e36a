import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { refresh, type UpdateType } from './updates.ts'

/** Updates of this time are one refresh. */
const COLLECT_MS = 400

/** An event of the stream: objects of this type are different now. */
type Update = { type: UpdateType; id: string | null }

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
  channel.onmessage = ({ data }) => onUpdate(data)
  const tell = (update: Update) => {
    onUpdate(update)
    channel.postMessage(update)
  }
  navigator.locks
    .request(`shiplock-events-${org}`, { signal: stop.signal }, () => holdStream(org, tell, stop.signal))
    .catch(() => {})
  stop.signal.addEventListener('abort', () => channel.close())
  return () => stop.abort()
}

function holdStream(org: string, tell: (update: Update) => void, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const events = new EventSource(`/app/api/orgs/${org}/events`)
    events.onmessage = ({ data }) => tell(JSON.parse(data))
    events.addEventListener('resync', () => tell({ type: 'resync', id: null }))
    // A stream that ended before its first event begins anew without `resync`.
    let isFirst = true
    events.onopen = () => {
      if (!isFirst) tell({ type: 'resync', id: null })
      isFirst = false
    }
    stop.addEventListener('abort', () => {
      events.close()
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
