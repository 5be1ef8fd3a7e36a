import { Button, Group, Paper, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { client, sessionEndedInAct } from '../api/client.ts'
import classes from './background-work.module.css'

let written: HTMLInputElement | HTMLTextAreaElement | null = null

addEventListener('input', ({ target }) => {
  if (target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement) written = target
})

// What was sent is not unsent, also while its dialog fades out.
addEventListener('submit', () => {
  written = null
})

/** Whether a field that somebody has typed in is still on the page, and has text. */
export function hasUnsentText(): boolean {
  return written?.isConnected === true && written.value.trim() !== ''
}

/** Says how to sign in again without losing what was written. It goes when there is a session. */
export function SignedOutNotice() {
  const isShown = sessionEndedInAct.use()
  const queries = useQueryClient()
  useEffect(() => {
    if (!isShown) return
    const look = async () => {
      await client.GET('/app/api/session')
      sessionEndedInAct.set(false)
      await queries.invalidateQueries()
    }
    const onFocus = () => void look().catch(() => {})
    onFocus()
    addEventListener('focus', onFocus)
    return () => removeEventListener('focus', onFocus)
  }, [isShown, queries])
  if (!isShown) return null
  return (
    <Paper role="alert" shadow="md" p="sm" className={classes.corner} data-above-dialogs>
      <Text size="sm">
        Your session has ended. Sign in again in another tab, then go on here: what you have written stays on this page.
      </Text>
      <Group mt="xs">
        <Button component="a" href="/sign-in" target="_blank" size="compact-sm" variant="default">
          Sign in again
        </Button>
      </Group>
    </Paper>
  )
}
