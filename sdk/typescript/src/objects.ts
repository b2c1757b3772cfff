/** What the server answers. Fields that a later server adds are there too. */
export interface Box { boxId: string; name: string; role?: string; [more: string]: unknown }

export interface File {
  fileId: string; boxId: string; name: string; mediaType: string; storageSize: number; sha256: string; pages: number;
  status: 'queued' | 'processing' | 'ready' | 'ready_with_warnings' | 'failed' | 'deleting';
  error: string | null; warnings: string[]; tags: string[]; metadata: Record<string, unknown>; externalId: string | null;
  [more: string]: unknown;
}

export interface Usage { intelligence_units_consumed: number; intelligence_units_remaining?: number; [more: string]: unknown }

export interface Hit {
  id: string; rank: number; score: number; text: string; boxId: string; fileId: string; fileName: string; page: number;
  section: string[]; metadata: Record<string, unknown>; link: string; [more: string]: unknown;
}

export interface SearchResult { query: string; hits: Hit[]; usage: Usage }

export interface Document {
  fileId: string; fileName: string; pages: { page: number; text: string; [more: string]: unknown }[]; [more: string]: unknown;
}

export interface Citation {
  index: number; fileId: string; fileName: string; page: number; quote: string; score: number; url: string; [more: string]: unknown;
}

export interface Answer { id: string; text: string; citations: Citation[]; usage: Usage }

export interface Question {
  id: string; question: string; outcome: string; score: number | null; rating: number | null; comment: string | null; count: number;
  askedAt: string; [more: string]: unknown;
}

export interface Receipt { removed?: Record<string, number>; [more: string]: unknown }

export interface Message { role: 'system' | 'developer' | 'user' | 'assistant'; content: string }

export interface SearchOptions {
  top_k?: number; threshold?: number; mode?: 'hybrid' | 'semantic' | 'keyword'; rerank?: boolean; sources?: string[];
  filter?: Record<string, unknown>; max_units?: number; [more: string]: unknown;
}

export interface UploadOptions { name?: string; metadata?: Record<string, unknown>; tags?: string[]; externalId?: string }
