import { Skeleton } from '@mantine/core'
import { type ComponentProps, lazy, Suspense } from 'react'

// The editor is large: it is loaded with the first page that shows a file.
const Editor = lazy(() => import('./code-editor.tsx'))
const Comparison = lazy(() => import('./compare-files.tsx'))

export function CodeEditor(props: ComponentProps<typeof Editor>) {
  return (
    <Suspense fallback={<Skeleton height={320} aria-busy />}>
      <Editor {...props} />
    </Suspense>
  )
}

export function CompareFiles(props: ComponentProps<typeof Comparison>) {
  return (
    <Suspense fallback={<Skeleton height={240} aria-busy />}>
      <Comparison {...props} />
    </Suspense>
  )
}
