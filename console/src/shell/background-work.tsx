import { Group, Paper, Progress, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useEffect } from 'react'
import { createStore } from '../api/store.ts'
import classes from './background-work.module.css'

type Work = {
  /** "Uploading 3 of 20 reports". */
  title: string
  /** From 0 to 1. */
  share: number
  /** The page that shows more. */
  path: string
  /** Whether it ends when this tab is closed. */
  needsTab: boolean
}

/** Work that goes on while other pages are shown. Null when there is none. */
export const backgroundWork = createStore<Work | null>(null)

/** Shows the work in a corner, except on its own page, and warns before the tab is closed. */
export function BackgroundWork({ path }: { path: string }) {
  const work = backgroundWork.use()
  const needsTab = work?.needsTab ?? false
  useEffect(() => {
    if (!needsTab) return
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [needsTab])
  if (work === null || work.path === path) return null
  const percent = Math.round(work.share * 100)
  return (
    <Paper component="aside" aria-label="Background work" shadow="md" className={classes.corner}>
      <Link to={work.path} className={classes.link}>
        <Stack gap={6}>
          <Group justify="space-between" wrap="nowrap" gap="md">
            <Text size="sm" fw={500}>
              {work.title}
            </Text>
            <Text size="xs" c="dimmed" className={classes.percent}>
              {percent} %
            </Text>
          </Group>
          <Progress value={percent} size="xs" aria-label={work.title} />
        </Stack>
      </Link>
    </Paper>
  )
}
