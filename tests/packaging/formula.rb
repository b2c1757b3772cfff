# Stands in for Homebrew where it is not installed: runs a formula's `install` on the unpacked tarball.
#
#   ruby formula.rb quire.rb UNPACKED PREFIX      prints url and sha256 that the formula names
require "fileutils"
require "pathname"

class Pathname
  def install(*files)
    mkpath
    files.flatten.each { |file| FileUtils.cp(file, self) }
  end
end

class Formula
  FOLDERS = { bin: "bin", man1: "share/man/man1", bash_completion: "etc/bash_completion.d",
              zsh_completion: "share/zsh/site-functions", fish_completion: "share/fish/vendor_completions.d" }.freeze
  FOLDERS.each { |name, folder| define_method(name) { Pathname.new(ARGV[2]) / folder } }

  class << self
    attr_reader :told

    %i[desc homepage url version sha256 license depends_on].each do |word|
      define_method(word) { |value| (@told ||= {})[word] = value }
    end

    # What runs later, inside Homebrew.
    def service; end

    def test; end
  end
end

load File.expand_path(ARGV[0])
Dir.chdir(ARGV[1]) { Quire.new.install }
puts Quire.told[:url], Quire.told[:sha256]
