files-receipt = Comprovante
files-further = e mais { $count }; o registro de auditoria cita cada um.
files-deleted-hint = O que foi excluído não pode mais ser encontrado, lido nem baixado.
files-upload = Enviar
files-drop = Solte arquivos ou pastas aqui
files-drop-hint = ou escolha-os · até { $size } cada · PDF, Word, Excel, PowerPoint, e-mail, páginas web, texto, imagens e mais
files-choose-files = Escolher arquivos
files-choose-folder = Escolher uma pasta
files-add-text = Adicionar texto
files-add-a-text = Adicionar um texto
files-add-or-address = Adicionar um texto ou um endereço web
files-example = Horário de funcionamento
files-text = Texto
files-plain = Texto simples ou Markdown
files-web-address = Endereço web
files-fetch = Buscar
files-retry-failed = Tentar de novo os que falharam
files-cancel-all = Cancelar tudo
files-clear = Limpar
files-failed-uploads = Envios com falha
files-uploads = Envios
files-none = Nenhum arquivo ainda
files-none-how = Solte alguns acima. Assim que o primeiro estiver pronto, você pode <a href="/boxes/{ $box }/chat">fazer perguntas sobre ele</a>.
files-editors-add = Editores desta caixa podem adicionar arquivos.
files-filter-files = Filtrar arquivos
files-name-part = Parte do nome
files-status = Status
files-any-status = Qualquer status
files-status-ready = Pronto
files-status-warnings = Pronto, com avisos
files-in-progress = Em andamento
files-status-failed = Com falha
files-label = Etiqueta
files-filter = Filtrar
files-show-all = Mostrar todos
files-retry-all = Reprocessar todos os arquivos com falha
files-select-files = Selecione arquivos para etiquetar, reprocessar ou excluir.
files-labels-to-add = Etiquetas a adicionar
files-labels-to-add-example = etiquetas a adicionar
files-add-labels = Adicionar etiquetas
files-reprocess = Reprocessar
files-delete-confirm = Excluir permanentemente os arquivos selecionados?
files-delete = Excluir
files-select-all = Selecionar tudo nesta página
files-state = Estado
files-select = Selecionar { $name }
files-pages-read = Páginas lidas
files-no-match = Nenhum arquivo corresponde.
files-first-page = Primeira página
files-more-files = Mais arquivos
files-status-queued = Aguardando
files-status-processing = Processando
files-status-deleting = Excluindo
files-not-processed = não pôde ser processado
files-column-name = Nome
files-column-pages = Páginas
files-column-size = Tamanho
files-column-added = Adicionado
files-original-kept = o original é mantido para outro arquivo desta caixa, { $pages }, { $passages }, { $vectors }
files-original-gone = o original, { $pages }, { $passages }, { $vectors }
files-labelled = { $count ->
        [one] { $count } arquivo etiquetado.
       *[other] { $count } arquivos etiquetados.
    }
files-reprocessed = { $count ->
        [one] { $count } arquivo está sendo processado novamente.
       *[other] { $count } arquivos estão sendo processados novamente.
    }
files-deleted = { $count ->
        [one] { $count } arquivo excluído.
       *[other] { $count } arquivos excluídos.
    }
files-recognised = Reconhecido de uma imagem
files-recognised-sure = Reconhecido de uma imagem, { $percent }% de certeza
files-with-structure = Lido com sua estrutura
files-as-text = Lido como texto simples
files-report = Relatório
files-facts = { $kind } · { $size } · { $pages } páginas · { $passages }
files-in-language = idioma { $language }
files-original = Original
files-download = Baixar
files-processing-report = Relatório de processamento
files-found = O que foi encontrado
files-previous-hit = Resultado anterior
files-next-hit = Próximo resultado
files-back-to-found = Voltar ao que foi encontrado
files-no-text = Nenhum texto pôde ser lido.
files-no-text-yet = Ainda não há texto.
files-about = Sobre este arquivo
files-searchable = Pesquisável desde
files-folder = Pasta
files-id = Id do arquivo
files-change = Alterar
files-labels = Etiquetas
files-metadata = Metadados
files-key-number = Chave { $number }
files-value-of = Valor de { $key }
files-new-key = Nova chave
files-key = chave
files-new-value = Novo valor
files-value = valor
files-metadata-hint = As pesquisas podem filtrar por estes. Uma entrada sem chave é ignorada.
files-delete-one-confirm = Excluir { $name } permanentemente?
files-report-of = Relatório de processamento de <a href="/boxes/{ $box }/files/{ $file }">{ $name }</a>
files-read-of = Leitura: { $read } de { $total }
files-read-recognised = { $count ->
        [one] { $count } reconhecida de uma imagem
       *[other] { $count } reconhecidas de imagens
    }
files-read-blank = { $count } sem texto
files-read-warned = { $count ->
        [one] { $count } com um aviso
       *[other] { $count } com avisos
    }
files-how = Como
files-characters = Caracteres
files-tables = Tabelas
files-warnings = Avisos
files-nothing-read = Nada foi lido deste arquivo.
files-more-pages = Mais páginas
files-previous-page = Página anterior
files-next-page = Próxima página
files-page-of = página { $page } de { $total }
files-go-to-page = Ir para a página
files-go = Ir
files-picture-of-page = Imagem da página
files-enlarge = Ampliar
files-picture-alt = Página { $page } de { $name }
files-quote = A citação na página
files-text-of-page = Texto da página
files-open = Abrir o arquivo aqui
files-select-everything = { $count ->
        [one] Selecionar { $count } arquivo
       *[other] Selecionar todos os { $count } arquivos
    }
