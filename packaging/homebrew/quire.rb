# Installs quire and runs it as a service: brew install quire && brew services start quire
class Quire < Formula
  desc "Self-hosted document retrieval: search, read and ask your documents"
  homepage "@base_url@"
  url "@url@"
  version "@version@"
  sha256 "@sha256@"
  license "Apache-2.0"

  # Files are read in processes that Linux confines (Landlock, seccomp).
  depends_on arch: :@machine@
  depends_on :linux

  def install
    bin.install "bin/quire"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/bash/quire"
    zsh_completion.install "completions/zsh/_quire"
    fish_completion.install "completions/fish/quire.fish"
  end

  service do
    run [opt_bin/"quire", "serve", "--data", var/"quire"]
    keep_alive true
    log_path var/"log/quire.log"
    error_log_path var/"log/quire.log"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/quire --version")
  end
end
