import { Button, Skeleton, Stack } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { ErrorBoundary } from '../../page/error-boundary.tsx'
import { formatSize } from '../../page/numbers.ts'
import { TextBlock } from '../../page/text-block.tsx'
import { renderableStart } from './renderable-markdown.ts'

const Markdown = lazy(() => import('./markdown.tsx').then((module) => ({ default: module.Markdown })))

/** The summary that a job has written, as Markdown. What is too long or too odd is shown as text. */
export function ReportSummary({ text }: { text: string }) {
  const [showsRest, setShowsRest] = useState(false)
  const start = renderableStart(text)
  const rest = text.slice(start.length)
  return (
    <Stack gap="xs" align="stretch">
      <ErrorBoundary fallback={<TextBlock label="Summary" text={start} />}>
        <Suspense fallback={<Skeleton height={80} />}>
          <Markdown text={start} />
        </Suspense>
      </ErrorBoundary>
      {rest !== '' &&
        (showsRest ? (
          <TextBlock label="Summary as text" text={rest} maxHeight={480} />
        ) : (
          <Button variant="default" size="xs" onClick={() => setShowsRest(true)} style={{ alignSelf: 'start' }}>
            {start === '' ? 'Show the summary as text' : 'Show the rest as text'} ({formatSize(rest.length)})
          </Button>
        ))}
    </Stack>
  )
}
