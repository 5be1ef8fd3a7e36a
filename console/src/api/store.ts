import { useSyncExternalStore } from 'react'

/** A value that components outside of each other's tree share. */
export function createStore<Value>(initial: Value) {
  const listeners = new Set<() => void>()
  let value = initial
  const subscribe = (listener: () => void) => {
    listeners.add(listener)
    return () => {
      listeners.delete(listener)
    }
  }
  return {
    set(next: Value) {
      value = next
      for (const listener of listeners) listener()
    },
    get: () => value,
    use: () => useSyncExternalStore(subscribe, () => value),
  }
}
