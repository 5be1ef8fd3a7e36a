import { yaml } from '@codemirror/lang-yaml'
import { MergeView, unifiedMergeView } from '@codemirror/merge'
import { EditorState } from '@codemirror/state'
import { EditorView, lineNumbers } from '@codemirror/view'
import { useMediaQuery } from '@mantine/hooks'
import { useEffect, useRef } from 'react'
import classes from './code-editor.module.css'
import { EDITOR_THEME } from './editor-theme.ts'

type ComparedFile = { label: string; text: string }
type CompareFilesProps = { before: ComparedFile; after: ComparedFile }

const COLLAPSED = { margin: 3, minSize: 6 }

/** Two files side by side, or as one on a narrow screen. Long parts without a change are folded. */
export default function CompareFiles({ before, after }: CompareFilesProps) {
  const host = useRef<HTMLDivElement>(null)
  const isWide = useMediaQuery('(min-width: 62em)', true)
  const { label: beforeLabel, text: beforeText } = before
  const { label: afterLabel, text: afterText } = after
  useEffect(() => {
    const parent = host.current as HTMLElement
    const [a, b] = [sideOf(beforeLabel, beforeText), sideOf(afterLabel, afterText)]
    const view = isWide
      ? new MergeView({ a, b, parent, gutter: true, highlightChanges: true, collapseUnchanged: COLLAPSED })
      : new EditorView({
          parent,
          doc: b.doc,
          extensions: [b.extensions, unifiedMergeView({ original: a.doc, mergeControls: false, gutter: true })],
        })
    return () => view.destroy()
  }, [beforeLabel, beforeText, afterLabel, afterText, isWide])
  return <div ref={host} className={classes.comparison} />
}

function sideOf(label: string, text: string) {
  return {
    doc: text,
    extensions: [
      ...[EDITOR_THEME, lineNumbers(), yaml(), EditorView.lineWrapping, EditorState.readOnly.of(true)],
      EditorView.contentAttributes.of({ 'aria-label': label }),
    ],
  }
}
