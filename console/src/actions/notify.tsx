import { Button, Group, Text } from '@mantine/core'
import type { NotificationData } from '@mantine/notifications'
import { useEffect } from 'react'
import { asApiError } from '../api/api-error.ts'
import { createStore } from '../api/store.ts'
import { lazyPart, ScriptNotice } from '../page/lazy-part.tsx'
import { describeProblem } from '../page/states.tsx'

const UNDO_MS = 10_000

/** Whether anything was ever notified. */
const shownNotifications = createStore(false)

/** The library of notifications, which the first view does without. */
const loadNotifications = () => import('@mantine/notifications')

const Notifications = lazyPart(async () => (await loadNotifications()).Notifications)

/** What is said without the library, because it could not be loaded. */
const shownPlainly = createStore<string | null>(null)

/** `text` is what the notification says. */
function show(text: string, notification: NotificationData): void {
  loadNotifications()
    .then(({ showNotification }) => showNotification(notification))
    .then(() => shownNotifications.set(true))
    .catch(() => shownPlainly.set(text))
}

/** Says that something was done. With `undo`, offers to take it back. */
export function notifyDone(message: string, undo?: () => void): void {
  const id = crypto.randomUUID()
  const takeBack = () => {
    void loadNotifications().then(({ hideNotification }) => hideNotification(id))
    undo?.()
  }
  show(message, {
    id,
    role: 'status',
    autoClose: undo ? UNDO_MS : 4000,
    closeButtonProps: { 'aria-label': 'Close notification' },
    message: undo ? (
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm">{message}</Text>
        <Button size="compact-sm" variant="subtle" onClick={takeBack}>
          Undo
        </Button>
      </Group>
    ) : (
      message
    ),
  })
}

/** Says that something could not be done, and why. The end of the session has a notice of its own. */
export function notifyFailed(title: string, error: unknown): void {
  if (asApiError(error)?.code === 'not_signed_in') return
  show(title, {
    color: 'red',
    role: 'alert',
    autoClose: 12_000,
    title,
    message: describeProblem(error),
    closeButtonProps: { 'aria-label': 'Close notification' },
  })
}

/**
 * The corner in which notifications appear. What it needs is loaded when somebody does something for
 * the first time, and not with the first page: what will have to be said can be that the server is lost.
 */
export function NotificationCenter() {
  const isNeeded = shownNotifications.use()
  const plain = shownPlainly.use()
  useEffect(() => {
    const once = { once: true, passive: true }
    const load = () => void loadNotifications().catch(() => {})
    addEventListener('pointerdown', load, once)
    addEventListener('keydown', load, once)
    return () => {
      removeEventListener('pointerdown', load)
      removeEventListener('keydown', load)
    }
  }, [])
  return (
    <>
      {isNeeded && <Notifications position="bottom-right" />}
      {plain !== null && <ScriptNotice key={plain} title={plain} />}
    </>
  )
}
